package dev.isola.server.api;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.isola.codec.json.Json;
import dev.isola.server.limit.ByteBudget;
import dev.isola.spi.Bytes;
import dev.isola.spi.exec.OutputLimit;
import java.io.IOException;
import java.io.OutputStream;
import java.io.StringWriter;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RetainedOutputTest {
  private static final int MIB = 1 << 20;

  private final ByteBudget budget = new ByteBudget(64L * MIB);

  private static String text(RetainedOutput output) throws IOException {
    StringWriter text = new StringWriter();
    output.text().transferTo(text);
    return text.toString();
  }

  private static String value(RetainedOutput output, boolean base64) {
    String json = Json.text(Map.of("value", output.toJsonText(base64)));
    return String.valueOf(Json.parseObject(json).get("value"));
  }

  @Test
  void retainsAllBytesWithinTheLimitForAnyChunking() throws IOException {
    Random random = new Random(7);
    for (int round = 0; round < 50; round++) {
      OutputLimit limit = new OutputLimit(random.nextInt(100_000), random.nextInt(100_000));
      byte[] all = new byte[random.nextInt(300_000)];
      random.nextBytes(all);
      try (RetainedOutput output = new RetainedOutput(limit, budget)) {
        for (int at = 0; at < all.length; ) {
          int now = Math.min(all.length - at, 1 + random.nextInt(random.nextInt(40_000) + 1));
          output.add(Bytes.wrap(Arrays.copyOfRange(all, at, at + now)));
          at += now;
        }
        int head = Math.min(all.length, limit.head());
        int tail = Math.min(all.length - head, limit.tail());
        byte[] kept = Arrays.copyOf(all, head + tail);
        System.arraycopy(all, all.length - tail, kept, head, tail);
        assertThat(output.total()).isEqualTo(all.length);
        assertThat(output.omitted()).isEqualTo(all.length - head - tail);
        assertThat(output.isOutOfBudget()).isFalse();
        assertThat(value(output, true)).isEqualTo(Base64.getEncoder().encodeToString(kept));
      }
    }
    assertThat(budget.available()).as("everything is released").isEqualTo(64L * MIB);
  }

  @Test
  void textIsDecodedAcrossChunkBoundaries() throws IOException {
    String sample = "a\u0000\n\"é€😀".repeat(30_000);
    byte[] all = sample.getBytes(UTF_8);
    try (RetainedOutput output = new RetainedOutput(new OutputLimit(100_001, MIB), budget)) {
      for (int at = 0; at < all.length; at += 1000) {
        output.add(Bytes.wrap(Arrays.copyOfRange(all, at, Math.min(all.length, at + 1000))));
      }
      assertThat(text(output)).isEqualTo(sample);
      assertThat(value(output, false)).isEqualTo(sample);
    }
  }

  @Test
  void omittedBytesAreMarkedInTheText() throws IOException {
    try (RetainedOutput output = new RetainedOutput(new OutputLimit(2, 2), budget)) {
      output.add(Bytes.utf8("abcdef"));
      assertThat(text(output)).isEqualTo("ab\n[... 2 bytes omitted ...]\nef");
      output.addLost(10);
      output.add(Bytes.utf8("g"));
      assertThat(text(output)).isEqualTo("ab\n[... 14 bytes omitted ...]\ng");
    }
  }

  @Test
  void exhaustedBudgetRetainsTheFreeBlocksAndTheNewestBytes() throws IOException {
    ByteBudget small = new ByteBudget(4L * ByteBlocks.BLOCK);
    OutputLimit limit = new OutputLimit(MIB, MIB);
    try (RetainedOutput first = new RetainedOutput(limit, small);
        RetainedOutput second = new RetainedOutput(limit, small)) {
      for (RetainedOutput output : new RetainedOutput[] {first, second}) {
        for (int i = 0; i < 2 * MIB / 1024; i++) {
          output.add(Bytes.utf8(String.format("%-1023s\n", i)));
        }
        assertThat(output.total()).isEqualTo(2 * MIB);
        assertThat(output.isOutOfBudget()).isTrue();
        assertThat(output.omitted()).isPositive();
        assertThat(text(output)).startsWith("0 ").endsWith("\n").contains("\n2047 ");
        assertThat(output.total() - output.omitted()).isGreaterThanOrEqualTo(2 * ByteBlocks.BLOCK);
      }
      assertThat(small.available()).isZero();
    }
    assertThat(small.available()).isEqualTo(4L * ByteBlocks.BLOCK);
  }

  /** Each of these bytes takes six bytes as JSON. */
  @Test
  void largeOutputIsStreamedAsJson() throws IOException {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    try (RetainedOutput output = new RetainedOutput(new OutputLimit(4 * MIB, 4 * MIB), budget)) {
      long before = threads.getCurrentThreadAllocatedBytes();
      byte[] piece = new byte[64 * 1024];
      for (int i = 0; i < 8 * MIB / piece.length; i++) {
        output.add(Bytes.of(piece));
      }
      Json.write(Map.of("stdout", output.toJsonText(false)), OutputStream.nullOutputStream());
      assertThat(output.omitted()).isZero();
      assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(24L * MIB);
    }
  }
}
