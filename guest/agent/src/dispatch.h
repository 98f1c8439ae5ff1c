/* Hands each frame of the proven connection to the part that serves it. */
#ifndef ISOLA_DISPATCH_H
#define ISOLA_DISPATCH_H

#include "frame.h"

void dispatch_frame(const struct frame *f);

#endif
