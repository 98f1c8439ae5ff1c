package dev.isola.spi.spec;

import java.util.Locale;

/** What a sandbox is for; it steers the choice of a provider. */
public enum ContainerType {
  /** Short-lived, computes. */
  AGENT_WORKSPACE,
  /** Long-lived, light. */
  MCP_SERVER;

  public String wireName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
