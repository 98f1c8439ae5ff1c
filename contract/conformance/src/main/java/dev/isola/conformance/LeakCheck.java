package dev.isola.conformance;

import java.util.Optional;

/** Compares the resources that exist before and after a check to find leaks. */
public interface LeakCheck {
  /** Finds nothing; disables leak checks. */
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
   * Returns a description of the resources that exist now and did not exist before. Waits briefly
   * for resources that are being released.
   */
  Optional<String> after();
}
