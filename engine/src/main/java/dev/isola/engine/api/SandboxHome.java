package dev.isola.engine.api;

import java.net.URI;

/** The server of the installation that answers requests about a sandbox. */
public sealed interface SandboxHome {

  /** This server. */
  record Here() implements SandboxHome {}

  /**
   * Another server, which owns the sandbox.
   *
   * @param server the name of the server
   * @param url where the other servers reach it
   */
  record At(String server, URI url) implements SandboxHome {}
}
