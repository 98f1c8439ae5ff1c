#include "events.h"

const struct events *events;
