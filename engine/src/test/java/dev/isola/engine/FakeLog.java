package dev.isola.engine;

import dev.isola.engine.api.Log;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Keeps all messages. */
public final class FakeLog implements Log {
  public final List<String> infos = new CopyOnWriteArrayList<>();
  public final List<String> warnings = new CopyOnWriteArrayList<>();

  @Override
  public void info(String sentence) {
    infos.add(sentence);
  }

  @Override
  public void warning(String sentence) {
    warnings.add(sentence);
  }
}
