/** Server side of the guest protocol: turns a byte channel to the guest agent into a sandbox. */
@NullMarked
package dev.isola.link;

import org.jspecify.annotations.NullMarked;
