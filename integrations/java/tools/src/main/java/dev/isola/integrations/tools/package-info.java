/**
 * Tools with which language models use sandboxes, independent of a framework. Start with {@link
 * dev.isola.integrations.tools.SandboxTools}.
 */
@NullMarked
package dev.isola.integrations.tools;

import org.jspecify.annotations.NullMarked;
