/** Examples for the Java SDK. */
@NullMarked
package dev.isola.client.examples;

import org.jspecify.annotations.NullMarked;
