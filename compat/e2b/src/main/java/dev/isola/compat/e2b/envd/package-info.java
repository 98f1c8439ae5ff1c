/**
 * Envd for E2B's clients: processes and files by the Connect protocol in JSON, file content, health
 * and metrics by plain HTTP. A translation onto the provider contract that depends on no provider.
 */
@NullMarked
package dev.isola.compat.e2b.envd;

import org.jspecify.annotations.NullMarked;
