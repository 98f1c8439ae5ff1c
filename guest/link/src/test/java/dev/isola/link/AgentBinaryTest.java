package dev.isola.link;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The programs that run beside guest processes are loaded at addresses that differ by start. */
class AgentBinaryTest {
  /** The field e_type of an ELF header, and its value for a program without fixed addresses. */
  private static final int TYPE = 16;

  private static final short SHARED_OBJECT = 3;

  @TempDir Path folder;

  @Test
  void agentAndLauncherArePositionIndependent() throws IOException {
    for (Path program : List.of(AgentBinary.install(folder), AgentBinary.installLauncher(folder))) {
      ByteBuffer header = ByteBuffer.wrap(Files.readAllBytes(program));
      assertThat(header.getInt(0)).as("an ELF file: " + program).isEqualTo(0x7f454c46);
      assertThat(header.order(ByteOrder.LITTLE_ENDIAN).getShort(TYPE))
          .as(program.toString())
          .isEqualTo(SHARED_OBJECT);
    }
  }
}
