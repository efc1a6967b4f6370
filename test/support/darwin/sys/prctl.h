#error Darwin has no sys/prctl.h that is of use here
