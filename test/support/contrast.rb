# frozen_string_literal: true

# How well a colour can be told from the one behind it (WCAG 2.2: relative luminance, contrast ratio).
module Contrast
  module_function

  # @param colours [Array<String>] "#14181c", "#fff" or "rgb(20, 24, 28)"
  # @return [Float] 1 to 21
  def contrast(*colours)
    low, high = colours.map { |colour| luminance(colour) }.sort
    (high + 0.05) / (low + 0.05)
  end

  def luminance(colour)
    channels = parts(colour).map { |part| (part <= 0.04045) ? part / 12.92 : ((part + 0.055) / 1.055)**2.4 }
    channels.zip([0.2126, 0.7152, 0.0722]).sum { |channel, weight| channel * weight }
  end

  def parts(colour)
    return colour.scan(/\d+/).first(3).map { |number| number.to_i / 255.0 } unless colour.start_with?("#")
    digits = colour.delete("#")
    digits = digits.gsub(/\h/) { |digit| digit * 2 } if digits.length == 3
    digits.scan(/../).map { |pair| pair.hex / 255.0 }
  end
end
