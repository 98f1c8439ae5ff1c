package dev.isola.client;

import java.util.EnumMap;
import java.util.Map;
import java.util.function.Consumer;

/** The callbacks of an execution, and the text of each channel that is not complete yet. */
final class OutputCallbacks {
  private final Map<Output.Channel, Consumer<String>> consumers =
      new EnumMap<>(Output.Channel.class);
  private final Map<Output.Channel, OutputText> texts = new EnumMap<>(Output.Channel.class);
  private Consumer<Output.Gap> onGap = gap -> {};

  void on(Output.Channel channel, Consumer<String> action) {
    consumers.put(channel, action);
  }

  void onGap(Consumer<Output.Gap> action) {
    onGap = action;
  }

  void accept(Output piece) {
    switch (piece) {
      case Output.Data data ->
          deliver(
              data.channel(),
              texts
                  .computeIfAbsent(data.channel(), channel -> new OutputText())
                  .append(data.bytes()));
      case Output.Gap gap -> {
        end();
        onGap.accept(gap);
      }
    }
  }

  /** Delivers what a gap or the end of the output cut off. */
  void end() {
    texts.forEach((channel, text) -> deliver(channel, text.end()));
  }

  private void deliver(Output.Channel channel, String text) {
    Consumer<String> consumer = consumers.get(channel);
    if (consumer != null && !text.isEmpty()) {
      consumer.accept(text);
    }
  }
}
