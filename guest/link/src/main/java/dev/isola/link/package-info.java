/** The Java end of the channel to the guest agent: any byte channel in, a sandbox out. */
@NullMarked
package dev.isola.link;

import org.jspecify.annotations.NullMarked;
