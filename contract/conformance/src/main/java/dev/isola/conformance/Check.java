package dev.isola.conformance;

import dev.isola.spi.capability.Capability;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a method {@code void name(Subject)} of a check class as a check. Its id is the class's
 * subject and the method's name: {@code Exec.nonzeroExitIsAResult}.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Check {
  /** The requirement it guards, such as {@code X3}. */
  String value();

  /** Capabilities without which it is not run. */
  Class<? extends Capability>[] needs() default {};

  /** Programs that must be in the sandbox's PATH, or it is not run. */
  String[] tools() default {};
}
