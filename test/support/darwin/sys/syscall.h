#error Darwin has no sys/syscall.h that is of use here
