/** JUnit extension that gives tests a sandbox: {@link dev.isola.client.junit.Sandboxed}. */
@NullMarked
package dev.isola.client.junit;

import org.jspecify.annotations.NullMarked;
