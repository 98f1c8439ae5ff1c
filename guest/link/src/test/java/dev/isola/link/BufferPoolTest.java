package dev.isola.link;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class BufferPoolTest {
  private final BufferPool blocks = new BufferPool(2);

  @Test
  void releasedBufferIsReusedEmpty() {
    ByteBuffer block = blocks.acquire();
    block.put(new byte[100]).flip();
    assertThat(blocks.inUse()).isEqualTo(1);
    blocks.release(block);
    assertThat(blocks.inUse()).isZero();
    assertThat(blocks.acquire()).isSameAs(block);
    assertThat(block.remaining()).isEqualTo(BufferPool.SIZE);
  }

  @Test
  void exhaustedPoolReturnsUnpooledHeapBuffer() {
    ByteBuffer first = blocks.acquire();
    ByteBuffer second = blocks.acquire();
    ByteBuffer third = blocks.acquire();
    assertThat(second).isNotSameAs(first);
    assertThat(first.isDirect() && second.isDirect()).isTrue();
    assertThat(third.isDirect()).isFalse();
    assertThat(third.remaining()).isEqualTo(BufferPool.SIZE);
    blocks.release(third);
    assertThat(blocks.inUse()).isEqualTo(2);
    blocks.release(first);
    assertThat(blocks.acquire()).isSameAs(first);
  }
}
