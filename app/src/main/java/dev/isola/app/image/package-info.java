/** Implements {@code isola image}, for the images of this machine and of a server. */
@NullMarked
package dev.isola.app.image;

import org.jspecify.annotations.NullMarked;
