/**
 * The Model Context Protocol: tools with which an agent creates and uses sandboxes, over HTTP at
 * {@code /mcp}. Both eras of the protocol: sessions until 2025-11-25, single requests since
 * 2026-07-28.
 */
@NullMarked
package dev.isola.compat.mcp;

import org.jspecify.annotations.NullMarked;
