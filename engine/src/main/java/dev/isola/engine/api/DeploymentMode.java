package dev.isola.engine.api;

import java.util.Locale;

/** Where sandboxes run by default. */
public enum DeploymentMode {
  /** On this machine. Remote providers are used only if a request names them. */
  SELF_HOSTED,
  /** At a remote provider if one is healthy, otherwise on this machine. */
  MANAGED;

  /** Returns the name in configuration and responses, such as {@code self-hosted}. */
  public String wireName() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
