package dev.isola.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.error.ProviderUnavailable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The agent runs next to guest processes and must be position independent. */
class AgentBinaryTest {
  /** Offset of e_type in an ELF header. */
  private static final int TYPE = 16;

  private static final short SHARED_OBJECT = 3;

  @TempDir Path folder;

  @Test
  void agentIsPositionIndependent() throws IOException {
    ByteBuffer header = ByteBuffer.wrap(Files.readAllBytes(AgentBinary.install(folder)));
    assertThat(header.getInt(0)).as("an ELF file").isEqualTo(0x7f454c46);
    assertThat(header.order(ByteOrder.LITTLE_ENDIAN).getShort(TYPE)).isEqualTo(SHARED_OBJECT);
  }

  @Test
  void missingProgramIsReportedWithBuildInstructions() {
    EmbeddedProgram absent =
        new EmbeddedProgram("compass", "host/compass", "META-INF/none", "compass");
    assertThatThrownBy(() -> absent.install(folder))
        .isInstanceOf(ProviderUnavailable.class)
        .hasMessageContaining("no compass for linux-")
        .hasMessageContaining("make -C host/compass");
  }
}
