package dev.isola.provider.memory.process;

import dev.isola.spi.exec.Channel;

/** A descriptor whose writes go into the journal. */
final class JournalFile extends OpenFile {
  private final Journal journal;
  private final Channel channel;
  private final Runnable onClosed;

  JournalFile(Journal journal, Channel channel, Runnable onClosed) {
    this.journal = journal;
    this.channel = channel;
    this.onClosed = onClosed;
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws InterruptedException {
    journal.write(channel, bytes, offset, length);
  }

  @Override
  protected void closed() {
    onClosed.run();
  }
}
