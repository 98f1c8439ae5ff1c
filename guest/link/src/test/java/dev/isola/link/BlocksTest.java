package dev.isola.link;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class BlocksTest {
  private final Blocks blocks = new Blocks(2);

  @Test
  void aBlockIsUsedAgainAndEmpty() {
    ByteBuffer block = blocks.take();
    block.put(new byte[100]).flip();
    assertThat(blocks.inUse()).isEqualTo(1);
    blocks.giveBack(block);
    assertThat(blocks.inUse()).isZero();
    assertThat(blocks.take()).isSameAs(block);
    assertThat(block.remaining()).isEqualTo(Blocks.SIZE);
  }

  @Test
  void whoComesTooLateGetsOneOnTheHeapThatIsNotKept() {
    ByteBuffer first = blocks.take();
    ByteBuffer second = blocks.take();
    ByteBuffer third = blocks.take();
    assertThat(second).isNotSameAs(first);
    assertThat(first.isDirect() && second.isDirect()).isTrue();
    assertThat(third.isDirect()).isFalse();
    assertThat(third.remaining()).isEqualTo(Blocks.SIZE);
    blocks.giveBack(third);
    assertThat(blocks.inUse()).isEqualTo(2);
    blocks.giveBack(first);
    assertThat(blocks.take()).isSameAs(first);
  }
}
