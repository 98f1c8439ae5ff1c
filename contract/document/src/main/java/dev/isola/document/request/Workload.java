package dev.isola.document.request;

/** The purpose of a sandbox; it influences the choice of a provider. */
public enum Workload {
  /** Short-lived and compute-intensive. */
  AGENT_WORKSPACE,
  /** Long-lived and lightweight. */
  MCP_SERVER
}
