package dev.isola.link;

import java.nio.file.Path;

/** The guest agent's executable, which travels inside a jar and runs from a folder. */
public final class AgentBinary {
  static final EmbeddedProgram PROGRAM =
      new EmbeddedProgram("guest agent", "guest/agent", "META-INF/isola/agent", "isola-agent");

  private AgentBinary() {}

  /**
   * Puts the agent into {@code folder}.
   *
   * @see EmbeddedProgram#install
   */
  public static Path install(Path folder) {
    return PROGRAM.install(folder);
  }
}
