package dev.isola.conformance;

import dev.isola.spi.capability.Capability;
import dev.isola.spi.provider.BasicFeature;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a method {@code void name(CheckContext)} of a check class as a check. The id of the check
 * consists of the group and the method name: {@code Exec.nonzeroExitIsAResult}.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface Check {
  /** The requirement that the check covers, such as {@code X3}. */
  String value();

  /** Capabilities that the check needs; it is not run without them. */
  Class<? extends Capability>[] needs() default {};

  /** Parts of the contract that the check needs; it is not run if the provider lacks them. */
  BasicFeature[] basics() default {};

  /** Programs that must be in the PATH of the sandbox; the check is not run without them. */
  String[] tools() default {};
}
