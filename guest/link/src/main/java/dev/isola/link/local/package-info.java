/**
 * What providers on this machine have in common: a guest agent that runs detached, in a folder that
 * holds all that is known of its sandbox. A provider brings a {@link dev.isola.link.local.Booter};
 * {@link dev.isola.link.local.LocalProvider} does the rest.
 */
@NullMarked
package dev.isola.link.local;

import org.jspecify.annotations.NullMarked;
