/**
 * Spring Boot starter: an {@link dev.isola.client.Isola} client from the properties {@code
 * isola.*}, its health, and {@code @Sandboxed} tests that use it.
 */
@NullMarked
package dev.isola.integrations.springboot;

import org.jspecify.annotations.NullMarked;
