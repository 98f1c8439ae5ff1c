/**
 * Boots sandboxes with a root of their own: a plan of steps that the launcher follows, from the
 * sandbox's control groups to the program that isolates it.
 */
@NullMarked
package dev.isola.host.launch;

import org.jspecify.annotations.NullMarked;
