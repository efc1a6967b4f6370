#error Darwin has no sys/eventfd.h that is of use here
