/**
 * Embedded mode of the Java SDK: a server in the caller's JVM, on the loopback interface, with a
 * key that only this process knows.
 */
@NullMarked
package dev.isola.embedded;

import org.jspecify.annotations.NullMarked;
