/**
 * Boots sandboxes with a private root: the launcher executes a plan, from joining the control
 * groups to running the isolating program.
 */
@NullMarked
package dev.isola.host.launch;

import org.jspecify.annotations.NullMarked;
