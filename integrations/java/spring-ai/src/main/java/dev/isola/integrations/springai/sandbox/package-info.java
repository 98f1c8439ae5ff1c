/**
 * Backend of the Spring AI community's {@code Sandbox}: {@link
 * dev.isola.integrations.springai.sandbox.IsolaSandbox}.
 */
@NullMarked
package dev.isola.integrations.springai.sandbox;

import org.jspecify.annotations.NullMarked;
