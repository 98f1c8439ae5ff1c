package dev.isola.conformance;

import java.util.Optional;

/** Looks before and after every check whether something was left behind. */
public interface LeakCheck {
  /** For a kit that is run without looking. */
  LeakCheck NONE =
      new LeakCheck() {
        @Override
        public void before() {}

        @Override
        public Optional<String> after() {
          return Optional.empty();
        }
      };

  void before();

  /**
   * Returns what is there now and was not before, in words; waits a moment for what is just ending.
   */
  Optional<String> after();
}
