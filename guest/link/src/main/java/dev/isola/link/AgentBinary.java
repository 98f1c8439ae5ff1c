package dev.isola.link;

import java.nio.file.Path;

/** The guest agent's executable, which is embedded in a jar and installed into a folder. */
public final class AgentBinary {
  static final EmbeddedProgram PROGRAM =
      new EmbeddedProgram("guest agent", "guest/agent", "META-INF/isola/agent", "isola-agent");

  private AgentBinary() {}

  /**
   * Installs the agent into {@code folder}.
   *
   * @see EmbeddedProgram#install
   */
  public static Path install(Path folder) {
    return PROGRAM.install(folder);
  }

  /**
   * Returns the agent for a machine of another architecture, to be uploaded.
   *
   * @param architecture as reported by {@code uname -m}
   * @throws dev.isola.spi.error.ProviderUnavailable when there is none for it
   */
  public static byte[] content(String architecture) {
    return PROGRAM.content(architecture);
  }
}
