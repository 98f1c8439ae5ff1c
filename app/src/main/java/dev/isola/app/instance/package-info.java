/** Attributes processes of this machine to installations, by the instance id that they carry. */
@NullMarked
package dev.isola.app.instance;

import org.jspecify.annotations.NullMarked;
