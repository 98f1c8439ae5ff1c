/**
 * Common base of providers on this machine: a detached guest agent for each sandbox, in a folder
 * that holds all state of the sandbox. A provider implements {@link dev.isola.link.local.Booter};
 * {@link dev.isola.link.local.LocalProvider} does the rest.
 */
@NullMarked
package dev.isola.link.local;

import org.jspecify.annotations.NullMarked;
