#error Darwin has no sys/epoll.h that is of use here
