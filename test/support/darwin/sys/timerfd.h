#error Darwin has no sys/timerfd.h that is of use here
