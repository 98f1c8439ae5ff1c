/** Storage for the finished files of a snapshot store: a local folder or a remote service. */
@NullMarked
package dev.isola.snapshot.blob;

import org.jspecify.annotations.NullMarked;
