/* The steps of a plan, as listed in launch.c. */
#ifndef ISOLA_STEPS_H
#define ISOLA_STEPS_H

#include "plan.h"

/* Takes all steps in order; the last one executes another program or exits with an answer. */
_Noreturn void steps_run(struct plan *plan);

#endif
