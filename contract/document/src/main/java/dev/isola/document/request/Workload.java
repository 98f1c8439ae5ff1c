package dev.isola.document.request;

/** What a sandbox is for; it steers the choice of a provider. */
public enum Workload {
  /** Short-lived, computes. */
  AGENT_WORKSPACE,
  /** Long-lived, light. */
  MCP_SERVER
}
