package dev.isola.host.launch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The launcher is packaged in the host module and is position-independent. */
class LauncherBinaryTest {
  /** The field e_type of an ELF header, and its value for a position-independent executable. */
  private static final int TYPE = 16;

  private static final short SHARED_OBJECT = 3;

  @TempDir Path folder;

  @Test
  void launcherIsPositionIndependent() throws IOException {
    ByteBuffer header = ByteBuffer.wrap(Files.readAllBytes(LauncherBinary.install(folder)));
    assertThat(header.getInt(0)).as("an ELF file").isEqualTo(0x7f454c46);
    assertThat(header.order(ByteOrder.LITTLE_ENDIAN).getShort(TYPE)).isEqualTo(SHARED_OBJECT);
  }
}
