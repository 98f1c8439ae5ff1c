/**
 * Sandboxes for LangChain4j: {@link dev.isola.integrations.langchain4j.IsolaToolProvider} for AI
 * services and {@link dev.isola.integrations.langchain4j.IsolaCodeExecutionEngine}.
 */
@NullMarked
package dev.isola.integrations.langchain4j;

import org.jspecify.annotations.NullMarked;
