package dev.isola.document.request;

/** The purpose of a sandbox; it influences the choice of a provider. */
public enum Workload {
  /** Short-lived and compute-intensive. */
  AGENT_WORKSPACE,
  /** Long-lived and lightweight; may host an {@link McpServer}. */
  MCP_SERVER
}
