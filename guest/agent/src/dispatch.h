/* Dispatches each frame of the authenticated connection to the module that handles it. */
#ifndef ISOLA_DISPATCH_H
#define ISOLA_DISPATCH_H

#include "frame.h"

void dispatch_frame(const struct frame *f);

#endif
