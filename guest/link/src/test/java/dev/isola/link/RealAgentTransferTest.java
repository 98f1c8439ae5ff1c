package dev.isola.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.isola.spi.file.FileSystem;
import dev.isola.spi.file.ReadRange;
import dev.isola.spi.file.WriteOptions;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A file that is handed on as a whole. */
@Timeout(60)
class RealAgentTransferTest {
  private static final byte[] CONTENT = new byte[3_000_001];

  private static RealAgent agent;
  private static FileSystem files;

  @BeforeAll
  static void start() throws IOException {
    agent = new RealAgent();
    files = agent.sandbox.files();
    new Random(3).nextBytes(CONTENT);
    files.write("content", new ByteArrayInputStream(CONTENT), WriteOptions.DEFAULT);
  }

  @AfterAll
  static void stop() throws IOException {
    agent.close();
  }

  @Test
  void nothingIsLostOrRepeatedAlsoInTheMiddleOfAFrame() throws IOException {
    ByteArrayOutputStream rest = new ByteArrayOutputStream();
    try (InputStream in = files.read("content", ReadRange.ALL)) {
      assertThat(in.readNBytes(100)).isEqualTo(Arrays.copyOf(CONTENT, 100));
      assertThat(in.transferTo(rest)).isEqualTo(CONTENT.length - 100);
      assertThat(in.transferTo(rest)).isZero();
    }
    assertThat(rest.toByteArray()).isEqualTo(Arrays.copyOfRange(CONTENT, 100, CONTENT.length));
  }

  @Test
  void aClosedStreamHandsNothingOn() throws IOException {
    InputStream in = files.read("content", ReadRange.ALL);
    in.close();
    assertThatThrownBy(() -> in.transferTo(OutputStream.nullOutputStream()))
        .isInstanceOf(IOException.class);
  }
}
