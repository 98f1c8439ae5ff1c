/* The steps of a plan, as launch.c lists them. */
#ifndef ISOLA_STEPS_H
#define ISOLA_STEPS_H

#include "plan.h"

/* Takes them one after the other; the last becomes another program, or ends this one with an answer. */
_Noreturn void steps_take(struct plan *plan);

#endif
