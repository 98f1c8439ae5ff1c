package dev.isola.engine.selection;

import java.util.Locale;

/** Whose machines sandboxes are on unless somebody says otherwise. */
public enum DeploymentMode {
  /** Here. A cloud is used only when it is named. */
  SELF_HOSTED,
  /** At a remote provider where one is healthy, otherwise here. */
  MANAGED;

  /** Returns the name in config and answers: {@code self-hosted}. */
  public String wireName() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
